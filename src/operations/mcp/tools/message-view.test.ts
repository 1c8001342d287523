import { expect, it } from 'vitest'
import { bodyText, textPart } from './message-view.ts'

it('reads the plain text of a body, else the words of its HTML', () => {
  expect(bodyText({ body: { text: 'a  \r\n\r\n\r\n\r\nb\n', html: '<p>c</p>' } })).toBe('a\n\nb')
  expect(bodyText({ body: { text: ' \n', html: '<style>x</style><p>c &amp; d</p><script>e</script>' } })).toBe('c & d')
  expect(bodyText({ body: { text: null, html: null } })).toBe('')
})

it('divides a long text into parts that join again, never inside a character', () => {
  const whole = 'a😀'.repeat(50)
  for (const limit of [1, 2, 3, 7, 100, 200]) {
    const parts: string[] = []
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const part = textPart(whole, offset, limit)
      expect(part.totalCharacters).toBe(whole.length)
      parts.push(part.text)
      offset = part.nextOffset
    }
    expect([limit, limit === 1 ? parts.length : parts.join('')]).toEqual([limit, limit === 1 ? 150 : whole])
  }
  expect(textPart('abc', 5, 10)).toEqual({ text: '', nextOffset: undefined, totalCharacters: 3 })
})
