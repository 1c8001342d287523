import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { COMMANDS, commandIn } from './cli.ts'

const LINE = /^(?:\$ )?(?:[A-Z_]+=\S* )*(?:npx |sudo )?posthorn( [^|<>&;#]+)/

/** The command lines in Markdown: those in backticks, and those in blocks of shell commands. Blocks in other languages have none. */
function commandLines(markdown: string): string[] {
  const blocks = [...markdown.matchAll(/^```(?:sh|console|shell|bash)\n([\s\S]*?)^```/gm)].map(
    ([, block = '']) => block,
  )
  const text = markdown.replaceAll(/^```[\s\S]*?^```/gm, '')
  const inline = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
  return [...blocks.flatMap((block) => block.replaceAll('\\\n', ' ').split('\n')), ...inline].flatMap((line) => {
    const found = LINE.exec(line.trim())
    return found?.[1] === undefined ? [] : [found[1].trim()]
  })
}

/** The words as a shell passes them. */
function splitWords(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, one, two, plain]) => one ?? two ?? plain ?? '')
}

it('parses every command line of the documentation', () => {
  const files = readdirSync('docs').filter((name) => name.endsWith('.md'))
  const lines = ['README.md', ...files.map((name) => `docs/${name}`)].flatMap((file) =>
    commandLines(readFileSync(file, 'utf8')).map((line) => [file, line] as const),
  )
  expect(lines.length).toBeGreaterThan(10)
  for (const [file, line] of lines) {
    expect(() => commandIn(splitWords(line)), `${file}: posthorn ${line}`).not.toThrow()
  }
})

it('parses the examples of every command, each of them as that command', () => {
  for (const [name, command] of Object.entries(COMMANDS)) {
    expect([name, command.examples.length]).not.toEqual([name, 0])
    for (const example of command.examples) {
      const [line = ''] = commandLines(`\`\`\`sh\n${example}\n\`\`\``)
      const found = commandIn(splitWords(line))
      expect([example, typeof found === 'string' ? found : found.command]).toEqual([example, command])
    }
  }
})
