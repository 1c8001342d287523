import { expect, it } from 'vitest'
import { generateKeyRing, parseKeyRing, SealError, sealer } from './seal.ts'

it('opens what it sealed, and seals the same text differently each time', () => {
  const box = sealer(parseKeyRing(generateKeyRing('k1')))
  const sealed = box.seal('s3cret ünïcode', 'account:acc_1')
  expect(box.open(sealed, 'account:acc_1')).toBe('s3cret ünïcode')
  expect(box.seal('s3cret ünïcode', 'account:acc_1')).not.toBe(sealed)
  expect(sealed).not.toContain('s3cret')
})

it('rejects a text that was moved to another row, altered, or sealed with an unknown key', () => {
  const box = sealer(parseKeyRing(generateKeyRing('k1')))
  const sealed = box.seal('secret', 'account:acc_1')
  expect(() => box.open(sealed, 'account:acc_2')).toThrow(SealError)
  expect(() => box.open(`${sealed.slice(0, -2)}AA`, 'account:acc_1')).toThrow(SealError)
  expect(() => sealer(parseKeyRing(generateKeyRing('k9'))).open(sealed, 'account:acc_1')).toThrow(/no key with id "k1"/)
  expect(() => box.open('k1:nonsense', 'account:acc_1')).toThrow(/malformed/)
})

it('rotates: a new primary seals, the old key still opens', () => {
  const [old, fresh] = [generateKeyRing('k1'), generateKeyRing('k2')]
  const sealed = sealer(parseKeyRing(old)).seal('secret', 'x')
  const rotated = sealer(parseKeyRing(`${fresh},${old}`))
  expect(rotated.open(sealed, 'x')).toBe('secret')
  expect(rotated.seal('secret', 'x')).toMatch(/^k2:/)
})

it('names the invalid entry of a ring, never the key', () => {
  expect(() => parseKeyRing('')).toThrow(/empty/)
  expect(() => parseKeyRing(`${generateKeyRing('k1')},k2:c2hvcnQ=`)).toThrow(
    'entry 2 of the key ring must be <id>:<32 bytes in base64>',
  )
  expect(() => parseKeyRing(`${generateKeyRing('k1')},${generateKeyRing('k1')}`)).toThrow(/duplicated/)
})
