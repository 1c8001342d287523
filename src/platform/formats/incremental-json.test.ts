import { describe, expect, it } from 'vitest'
import { fc } from '../../../test/kit/random/random.ts'
import { IncrementalJson, type IncrementalJsonOptions } from './incremental-json.ts'

const LIMITS = { depth: 100, values: 100_000 }

/** Parses the text in chunks of the given sizes, again and again. */
function parse(text: string, sizes: readonly number[], options: Partial<IncrementalJsonOptions> = {}): unknown {
  const json = new IncrementalJson({ limits: LIMITS, ...options })
  for (let at = 0, count = 0; at < text.length; count += 1) {
    const size = sizes[count % sizes.length] ?? text.length
    json.write(text.slice(at, at + size))
    at += size
  }
  return json.end()
}

const outcome = (run: () => unknown) => {
  try {
    return { value: run() }
  } catch {
    return 'refused'
  }
}

/** Sizes below and above the length of a group. */
const chunks = fc.array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constant(100_000)), { minLength: 1, maxLength: 5 })
/** A text that is long enough for several groups. */
const filler = JSON.stringify('x'.repeat(40_000))

describe('incremental JSON', () => {
  it('has the result of JSON.parse for any text and any chunks', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(2), chunks, (value, indent, sizes) => {
        const text = JSON.stringify(value, null, indent)
        expect(parse(text, sizes)).toStrictEqual(JSON.parse(text))
      }),
    )
  })

  it('has the same result for lists of many groups', () => {
    const page = fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue(), { maxLength: 8 })))
    fc.assert(
      fc.property(page, chunks, fc.nat(2), (value, sizes, indent) => {
        const text = JSON.stringify(value, null, indent).replaceAll('null', filler)
        expect(parse(text, sizes)).toStrictEqual(JSON.parse(text))
      }),
      { numRuns: 60 },
    )
  })

  it('refuses what JSON.parse refuses', () => {
    const broken = fc
      .tuple(
        fc.array(fc.constantFrom('1', '{', '}', '[', ']', ',', ':', '"a"', '"', '\\', ' ', filler), { maxLength: 12 }),
      )
      .map(([parts]) => `{"a":[${parts.join('')}`)
    fc.assert(
      fc.property(broken, fc.constantFrom('', ']', ']}', '}'), chunks, (text, end, sizes) => {
        const input = text + end
        expect(outcome(() => parse(input, sizes))).toStrictEqual(outcome(() => JSON.parse(input)))
      }),
      { numRuns: 500 },
    )
    for (const list of [`[${filler},${filler},]`, `[,${filler},${filler}]`, `[${filler},,${filler}]`]) {
      expect(outcome(() => parse(`{"a":${list}}`, [10_000]))).toBe('refused')
    }
  })

  it('cuts long strings between two characters', () => {
    const characters = fc.constantFrom('x', '"', '\\', 'é', '\u0001', '\n', '😀')
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 60 }), chunks, fc.boolean(), (parts, sizes, isInList) => {
        const long = parts.join('')
        const text = JSON.stringify(isInList ? { a: [long, 'short'] } : { a: long, b: 'short' })
        const { a } = parse(text, sizes, { maxString: 10 }) as { a: string | [string, string] }
        const cut = typeof a === 'string' ? a : a[0]
        expect(long.startsWith(cut)).toBe(true)
        const length = JSON.stringify(long).length - 2
        if (length <= 10) expect(cut).toBe(long)
        else expect(JSON.stringify(cut).length - 2).toBeGreaterThan(10 - 6)
        if (typeof a !== 'string') expect(a[1]).toBe('short')
      }),
      { numRuns: 500 },
    )
  })

  it('holds little of an endless string, and refuses endless lists early', () => {
    const json = new IncrementalJson({ limits: LIMITS, maxString: 1000 })
    json.write('{"a":["')
    for (let count = 0; count < 1000; count += 1) json.write('x'.repeat(16 * 1024))
    json.write('"]}')
    expect(json.end()).toEqual({ a: ['x'.repeat(1000)] })

    const rows = new IncrementalJson({ limits: LIMITS })
    rows.write('{"a":[')
    expect(() => {
      for (let count = 0; count < 200; count += 1) rows.write('{"id":"1"},'.repeat(1000))
    }).toThrow('limit of values')
    expect(() => parse('['.repeat(101), [10])).toThrow('limit of depth')
  })

  it('parses a limited number of values without a pause', () => {
    const many = JSON.stringify(Array.from({ length: 60_000 }, () => 1))
    const options = { limits: { depth: 100, values: 1_000_000 } }
    expect(outcome(() => parse(`{"a":{"b":${many}}}`, [10_000], options))).toBe('refused')
    expect(outcome(() => parse(`{"a":[${many}]}`, [10_000], options))).toBe('refused')
    expect(outcome(() => parse(`{"a":${many}}`, [10_000], options))).not.toBe('refused')
  })
})
