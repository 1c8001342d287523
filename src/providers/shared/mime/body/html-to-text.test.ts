import { describe, expect, it } from 'vitest'
import { fc } from '../../../../../test/kit/random/random.ts'
import { htmlToText } from './html-to-text.ts'
import { oneLine } from './snippet.ts'

describe('the text of an HTML message', () => {
  it('contains no styles, scripts, comments or tags, and decoded entities', () => {
    const html = `<html><head><title>T</title><style>p { color: red }</style></head><body><!-- hidden > -->
      <p>Gr&uuml;&szlig;e &amp; K&#252;sse&nbsp;&#x1F600; 1 &lt; 2</p><script>alert("x")</script><div>second<br>line</div></body>`
    expect(oneLine(htmlToText(html), 200)).toBe('Grüße & Küsse 😀 1 < 2 second line')
  })

  it('contains every named character, and no soft hyphens', () => {
    expect(htmlToText('&Scaron;koda &Ouml;l &check; &#150; &copy2026 in&shy;box')).toBe('Škoda Öl ✓ – ©2026 inbox')
    expect(htmlToText('&nosuch; &; &#; &#xD800; AT&T')).toBe('&nosuch; &; &#; \ufffd AT&T')
  })

  it('survives HTML that is cut off anywhere', () => {
    const html = '<p>begin</p><style>p{</style><a href="https://example.test/long">link</a><!-- note -->end'
    for (let at = 0; at <= html.length; at += 1) {
      const text = htmlToText(html.slice(0, at))
      expect(text).not.toMatch(/[<>{]|href|note/)
    }
  })

  it('never contains a tag, whatever the input', () => {
    const pieces = fc.constantFrom(
      '<p>',
      '</p>',
      '<',
      '>',
      'a',
      '<style>',
      '</style>',
      '<!--',
      '-->',
      '&amp',
      '&#0;',
      '&#xD800;',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        expect(htmlToText(parts.join(''))).not.toMatch(/<\/?(p|style)>/)
      }),
    )
  })

  it('takes linear time', () => {
    for (const piece of ['<', '<a ', '<!--', '<style>', '<p', '&amp']) htmlToText(piece.repeat(1_000_000))
  })
})
