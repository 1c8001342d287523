import { describe, expect, it } from 'vitest'
import { renderMarkdown } from './markdown.mjs'

const same = (href) => href

describe('a guide', () => {
  it('shows HTML as text', () => {
    const { content } = renderMarkdown('# A\n\n<script>alert(1)</script>\n\nA <b onclick="x()">b</b> `<i>`\n', same)
    expect(content.toString()).not.toMatch(/<(script|b|i)\b/)
    expect(content.toString()).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(content.toString()).toContain('<code>&lt;i&gt;</code>')
  })

  it('shows code of every language as it is written', () => {
    for (const language of ['sh', 'js', 'json', 'nginx', 'unknown', '']) {
      const { content } = renderMarkdown(`\`\`\`${language}\necho "<a>" & b\n\`\`\`\n`, same)
      const text = content.toString().replaceAll(/<[^>]+>/g, '')
      expect([language, text.trim()]).toEqual([language, 'echo &quot;&lt;a&gt;&quot; &amp; b'])
    }
  })

  it('has an id for each heading, also for equal ones, and the text of each section', () => {
    const { title, headings, sections } = renderMarkdown(
      '# Name\nOne\n## Data of `a.b`, c\nTwo `x`\n\n| A | B |\n|---|---|\n| 1 | 2 |\n## Same\n## Same\n',
      same,
    )
    expect(title).toBe('Name')
    expect(headings.map(({ id }) => id)).toEqual(['data-of-ab-c', 'same', 'same-1'])
    expect(sections[0].text).toContain('One')
    expect(sections[1]).toEqual({ id: 'data-of-ab-c', text: expect.stringContaining('Two x') })
    expect(sections[1].text).toContain('A B 1 2')
  })

  it('leaves the text of links without an address', () => {
    const { content } = renderMarkdown('See [the file](../x.ts).', () => undefined)
    expect(content.toString()).toBe('<p>See the file.</p>\n')
  })
})
