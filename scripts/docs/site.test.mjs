import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeDocs } from './site.mjs'

const KINDS = [
  { name: 'of a service', isStatic: false },
  { name: 'as files', isStatic: true },
]

describe.each(KINDS)('the documentation $name', ({ isStatic }) => {
  let folder
  let names
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'posthorn-docs-'))
    await writeDocs(folder, { isStatic })
    names = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** The file at an address, as the service or a web server finds it. */
  function fileAt(address) {
    if (isStatic) return address.slice(1)
    if (address === '/docs') return 'index.html'
    const name = address.replace(/^\/docs\//, '')
    return names.includes(name) ? name : `${name}.html`
  }
  const addressOf = (name) => {
    if (isStatic) return `/${name}`
    return name === 'index.html' ? '/docs' : `/docs/${name.replace(/\.html$/, '')}`
  }
  const read = (name) => readFile(join(folder, name), 'utf8')

  it('has only links that lead to a page, a section of it, or another host', async () => {
    const pages = names.filter((name) => name.endsWith('.html'))
    const ids = new Map()
    for (const name of pages) {
      const all = [...(await read(name)).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
      expect([name, all.filter((id, index) => all.indexOf(id) !== index)]).toEqual([name, []])
      ids.set(name, new Set(all))
    }
    const broken = []
    let checked = 0
    for (const name of pages) {
      for (const [, href] of (await read(name)).matchAll(/ (?:href|src|data-search)="([^"]*)"/g)) {
        if (/^(https?|mailto|data):/.test(href)) continue
        const [path, hash] = href.replaceAll('&amp;', '&').replaceAll('&#39;', "'").split('#')
        const at = addressOf(name)
        const target = fileAt(path === '' ? at : posix.join(posix.dirname(at), path))
        checked += 1
        if (!names.includes(target)) broken.push(`${name}: ${href}`)
        else if (hash && !ids.get(target)?.has(decodeURIComponent(hash))) broken.push(`${name}: ${href}`)
      }
    }
    expect(broken).toEqual([])
    expect(checked).toBeGreaterThan(2000)
  })

  it('describes every operation and every webhook once', async () => {
    const { paths, webhooks } = JSON.parse(await readFile('openapi.json', 'utf8'))
    const operations = [...Object.values(paths), ...Object.values(webhooks)].flatMap((item) => Object.values(item))
    const pages = names.filter((name) => name.startsWith('api/'))
    const texts = await Promise.all(pages.map(read))
    const shown = texts.flatMap((text) => [...text.matchAll(/<h2 id="(\w+)"/g)].map(([, id]) => id))
    expect(shown.sort()).toEqual(operations.map(({ operationId }) => operationId).sort())
  })

  it('names no member as undefined, and no object in place of its text', async () => {
    for (const name of names.filter((one) => one.endsWith('.html') && !one.startsWith('decisions/'))) {
      expect([name, (await read(name)).match(/>(undefined|\[object Object\]|NaN)</)]).toEqual([name, null])
    }
  })
})
