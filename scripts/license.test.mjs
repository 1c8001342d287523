import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** SHA-256 of https://www.apache.org/licenses/LICENSE-2.0.txt. */
const APACHE_2 = 'cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30'

it('the project has the unchanged Apache License 2.0 with its copyright line, and package.json and README name it', () => {
  const text = readFileSync('LICENSE', 'utf8')
  expect(text).toContain('\n   Copyright 2026 The Posthorn authors\n')
  const original = text.replace('Copyright 2026 The Posthorn authors', 'Copyright [yyyy] [name of copyright owner]')
  expect(createHash('sha256').update(original).digest('hex')).toBe(APACHE_2)
  expect(JSON.parse(readFileSync('package.json', 'utf8')).license).toBe('Apache-2.0')
  expect(readFileSync('README.md', 'utf8')).toContain('[Apache License 2.0](LICENSE)')
})
