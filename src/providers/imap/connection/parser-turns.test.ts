import { expect, it } from 'vitest'
import { ParserTurns, type Parsing } from './parser-turns.ts'

/** Data of `slices` slices that take 0.5 ms each. Records its name whenever one is parsed. */
function data(name: string, slices: number, parsed: string[]): Parsing {
  let left = slices
  return {
    get hasMore() {
      return left > 0
    },
    step() {
      left -= 1
      parsed.push(name)
      return 500
    },
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

it('parses 2 ms per turn of the event loop, one connection after the other', async () => {
  const turns = new ParserTurns()
  const parsed: string[] = []
  turns.add(data('a', 5, parsed))
  expect(parsed).toEqual(['a', 'a', 'a', 'a'])
  turns.add(data('b', 3, parsed))
  turns.add(data('c', 1, parsed))
  expect(parsed).toHaveLength(4)
  await nextTurn()
  expect(parsed.slice(4)).toEqual(['a', 'b', 'c', 'b'])
  await nextTurn()
  expect(parsed.slice(8)).toEqual(['b'])
  await nextTurn()
  turns.add(data('d', 1, parsed))
  expect(parsed.at(-1)).toBe('d')
})

it('parses nothing more of a connection that ended', async () => {
  const turns = new ParserTurns()
  const parsed: string[] = []
  const ended = data('a', 9, parsed)
  turns.add(ended)
  turns.remove(ended)
  await nextTurn()
  await nextTurn()
  expect(parsed).toHaveLength(4)
})
