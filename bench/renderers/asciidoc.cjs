// Prints {"path", "html"} for each AsciiDoc file, as Asciidoctor.js renders it. Usage: node asciidoc.cjs FOLDER FILE...
const path = require('node:path')
const { LoggerManager, NullLogger, loadFile } = require('@asciidoctor/core')

const [folder, ...files] = process.argv.slice(2)

async function main () {
  LoggerManager.setLogger(NullLogger.create())
  for (const file of files) {
    const document = await loadFile(path.join(folder, file), {
      safe: 'safe',
      base_dir: path.resolve(folder),
      attributes: { showtitle: '', 'sectnums!': '', litdd: '&#45;&#45;', caret: '^' },
    })
    process.stdout.write(JSON.stringify({ path: file, html: await document.convert() }) + '\n')
  }
}

main()
