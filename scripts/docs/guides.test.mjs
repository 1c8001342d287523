import { readdir, readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'

/** Pages about the code, and the contract, which also names paths of others. */
const OTHERS = ['contributing.md', 'design.md', 'specification.md', 'style.md']
/** Requests of the services that the guides for moving lead from. */
const FOREIGN = { 'from-nylas.md': '/v3/', 'from-emailengine.md': '/v1/' }

it('the guides name only requests that the API has', async () => {
  const { paths } = JSON.parse(await readFile('openapi.json', 'utf8'))
  const known = new Set(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`),
    ),
  )
  // Of the portal, for operators, and not described.
  known.add('DELETE /admin/sessions')
  const unknown = []
  let checked = 0
  for (const name of (await readdir('docs')).filter((one) => one.endsWith('.md') && !OTHERS.includes(one))) {
    const text = await readFile(`docs/${name}`, 'utf8')
    for (const [, method, path] of text.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/[^`?\s…]*[^`?\s…/])(?:[`?]| \{)/g)) {
      if (FOREIGN[name] !== undefined && path.startsWith(FOREIGN[name])) continue
      checked += 1
      if (!known.has(`${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`)) unknown.push(`${name}: ${method} ${path}`)
    }
  }
  expect(unknown).toEqual([])
  expect(checked).toBeGreaterThan(50)
})
