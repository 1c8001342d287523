// Serves a page with a strict Content-Security-Policy, and the booking page of an experience in it.
// POSTHORN_URL=https://book.example.com SLUG=intro-call node server.mjs
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'

const posthorn = process.env.POSTHORN_URL
const page = await readFile(new URL('index.html', import.meta.url), 'utf8')
const html = page.replaceAll('https://book.example.com', posthorn).replaceAll('intro-call', process.env.SLUG)

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    `default-src 'none'`,
    `script-src ${posthorn}`,
    `frame-src ${posthorn}`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
    `require-trusted-types-for 'script'`,
  ].join('; '),
}

const server = createServer((_request, response) => response.writeHead(200, headers).end(html))
server.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`Open http://127.0.0.1:${server.address().port}`)
})
