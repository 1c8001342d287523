import { expect, it } from 'vitest'
import { parseSource } from './parts.ts'

it('parses a limited number of lines, because each costs memory', async () => {
  const source = Buffer.from(`Content-Type: text/plain\r\n\r\nfirst\r\n${'\r\n'.repeat(200_000)}last\r\n`)
  const { text } = await parseSource(source)
  expect(text).toMatch(/^first\n/)
  expect(text?.split('\n').length).toBeLessThanOrEqual(10_000)
})
