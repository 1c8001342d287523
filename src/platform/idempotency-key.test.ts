import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { IDEMPOTENCY_KEY_HOURS } from './idempotency-key.ts'

it('the introduction of the API says for how long an Idempotency-Key is kept', () => {
  const text = readFileSync('src/ui/docs/introduction.md', 'utf8')
  expect(text).toContain(`For ${IDEMPOTENCY_KEY_HOURS} hours, a repetition with the same body gets the first response`)
})
