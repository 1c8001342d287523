import { expect, it } from 'vitest'
import { oneLine } from './snippet.ts'

it('a text becomes one line of bounded length, without the padding of newsletters', () => {
  expect(oneLine(`Hello\u200c\u00a0\u200c \ufeff\n\t world`, 100)).toBe('Hello world')
  expect(oneLine('😀'.repeat(200), 51)).toHaveLength(50)
})
