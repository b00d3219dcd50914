// Prints {"path", "text"} for each HTML file: what a browser shows of it with every <details> open, without scripts,
// navigation, the header and footer of the site, and controls. Usage: node inner_text.cjs BROWSER FOLDER FILE...
const { resolve } = require('node:path')
const puppeteer = require('puppeteer-core')

const [executablePath, folder, ...files] = process.argv.slice(2)

async function main () {
  const browser = await puppeteer.launch({
    executablePath, args: ['--no-sandbox', '--disable-gpu', '--allow-file-access-from-files'],
  })
  const page = await browser.newPage()
  await page.setJavaScriptEnabled(false)
  await page.setRequestInterception(true)
  page.on('request', (request) => (/^file:.*\.(css|x?html?)$/.test(request.url()) ? request.continue() : request.abort()))
  for (const file of files) {
    await page.goto('file://' + resolve(folder, file), { waitUntil: 'domcontentloaded' })
    const text = await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true
      for (const element of document.querySelectorAll('header, footer')) {
        const isPart = element.parentElement.closest('article, aside, main, nav, section, blockquote')
        if (!isPart && !element.querySelector('h1')) element.remove()
      }
      const frame = 'nav, [role=navigation], [role=banner], [role=contentinfo], [role=search], button, select, input, form'
      for (const element of document.querySelectorAll(frame)) element.remove()
      return document.body?.innerText ?? ''
    })
    process.stdout.write(JSON.stringify({ path: file, text }) + '\n')
  }
  await browser.close()
}

main()
