// Prints {"path", "text"} for each HTML file: what a browser shows of it with every <details> open, without scripts,
// navigation, tables of contents that repeat the headings of the page, the header and footer of the site, controls,
// numbers of lines and of notes, names of the languages of code, and lines that mdBook hides.
// Usage: node inner_text.cjs BROWSER FOLDER FILE...
const { resolve } = require('node:path')
const puppeteer = require('puppeteer-core')

const [executablePath, folder, ...files] = process.argv.slice(2)

async function main () {
  const browser = await puppeteer.launch({
    executablePath, args: ['--no-sandbox', '--disable-gpu', '--allow-file-access-from-files'],
  })
  const page = await browser.newPage()
  await page.setViewport({ width: 1280, height: 1024 })
  await page.setJavaScriptEnabled(false)
  await page.setRequestInterception(true)
  page.on('request', (request) => (/^file:.*\.(css|x?html?)$/.test(request.url()) ? request.continue() : request.abort()))
  const shown = async (file) => {
    await page.goto('file://' + resolve(folder, file), { waitUntil: 'load' })
    return page.evaluate(() => {
      // What is not in the window counts, too.
      const style = document.createElement('style')
      style.textContent = '* { content-visibility: visible !important }'
      document.head.append(style)
      for (const details of document.querySelectorAll('details')) details.open = true
      for (const element of document.querySelectorAll('header, footer')) {
        const isPart = element.parentElement.closest('article, aside, main, nav, section, blockquote')
        if (!isPart && !element.querySelector('h1')) element.remove()
      }
      const frame = 'nav, [role=navigation], [role=banner], [role=contentinfo], [role=search], button, select, input, form'
      // DocBook and gtk-doc have navigation in tables, Doxygen beside the title.
      const navigation = '.navheader, .navfooter, table.navigation, #nav-path, .header > .summary, .ingroups'
      const marks = '.lineno, .linenos, pre .boring, .footnote-reference, .fn-backref, .label [role=doc-backlink], ' +
        '.backrefs, [class*=language-] > .lang'
      for (const element of document.querySelectorAll(`${frame}, ${navigation}, ${marks}`)) element.remove()
      const letters = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
      const page = () => letters(document.body?.textContent ?? '')
      const here = location.href.split('#')[0]
      for (const list of document.querySelectorAll('ul, ol, dl')) {
        const links = [...list.querySelectorAll('a[href]')]
        const linked = links.map((link) => letters(link.textContent)).join('')
        const leadsHere = links.length > 1 && links.every((link) => link.hash && link.href.split('#')[0] === here)
        if (!leadsHere || letters(list.textContent).length * 0.8 > linked.length) continue
        const parent = list.parentElement, next = list.nextSibling
        list.remove()
        const rest = page()
        if (!links.every((link) => rest.includes(letters(link.textContent)))) parent.insertBefore(list, next)
        else if (/^(tableof)?contents$/.test(letters(parent.textContent))) parent.remove()
      }
      return document.body?.innerText ?? ''
    })
  }
  for (const file of files) {
    // A page that leads elsewhere at once shows nothing.
    const text = await shown(file).catch(() => '')
    process.stdout.write(JSON.stringify({ path: file, text }) + '\n')
  }
  await browser.close()
}

main()
