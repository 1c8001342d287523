import { readFile } from 'node:fs/promises'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, it } from 'vitest'

it('openapi.json has no errors for the linter of Redocly, with its recommended rules', async () => {
  const source = await readFile('openapi.json', 'utf8')
  const problems = await lintFromString({ source, config: await createConfig({ extends: ['recommended'] }) })
  const errors = problems.filter(({ severity }) => severity === 'error')
  expect(errors.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([])
  // It has read the document.
  expect(problems.map(({ ruleId }) => ruleId)).toContain('operation-4xx-response')
})
