import { expect, it } from 'vitest'
import { PageLinks } from './page-links.ts'

const endless = expect.objectContaining({ name: 'ProviderError', kind: 'unavailable' })

it('follows every link once', () => {
  const links = new PageLinks('listing')
  for (let page = 0; page < 5000; page += 1) expect(links.follow(`p${page}`, 1)).toBe(`p${page}`)
  expect(() => links.follow('p17', 1)).toThrow(endless)
})

it('passes empty pages between others, and not a thousand of them in a row', () => {
  const links = new PageLinks('listing')
  for (let page = 0; page < 3000; page += 1) links.follow(`p${page}`, page % 10 === 0 ? 1 : 0)
  for (let page = 0; page < 1000 - 9; page += 1) links.follow(`e${page}`, 0)
  expect(() => links.follow('one more', 0)).toThrow(endless)
})

it('ends after more pages than any mailbox has', () => {
  const links = new PageLinks('listing')
  for (let page = 0; page < 100_000; page += 1) links.follow(`p${page}`, 1)
  expect(() => links.follow('one more', 1)).toThrow(endless)
})
