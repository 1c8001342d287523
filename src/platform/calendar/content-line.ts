/** A content line of RFC 5545: `RDATE;VALUE=DATE;TZID="Europe/Berlin":20261120`. */
export interface ContentLine {
  /** In upper case. */
  name: string
  /** The first value of each parameter by its name in upper case, without quotes. */
  parameters: Map<string, string>
  value: string
}

const PARAMETER = /;([\w-]+)=("[^"]*"|[^";:,]*)(?:,(?:"[^"]*"|[^";:,]*))*/y
const NAME = /[\w-]+/y
/** Lines of calendar programs have ten at most. */
const MAX_PARAMETERS = 200

const ESCAPES: Record<string, string> = { n: '\n', "'": '"', '^': '^' }

/** RFC 6868 */
function decoded(value: string): string {
  return value.includes('^')
    ? value.replaceAll(/\^([n'^])/g, (_match, escaped: string) => ESCAPES[escaped] ?? '')
    : value
}

/** Undefined when the text is not a content line. The line must be unfolded. */
export function parseContentLine(line: string): ContentLine | undefined {
  NAME.lastIndex = 0
  const name = NAME.exec(line)?.[0]
  if (name === undefined) return undefined
  const parameters = new Map<string, string>()
  let at = name.length
  for (let count = 0; line[at] === ';'; count += 1) {
    if (count === MAX_PARAMETERS) return undefined
    PARAMETER.lastIndex = at
    const [text = '', parameter = '', value = ''] = PARAMETER.exec(line) ?? []
    if (text === '') return undefined
    parameters.set(parameter.toUpperCase(), decoded(value.startsWith('"') ? value.slice(1, -1) : value))
    at += text.length
  }
  if (line[at] !== ':') return undefined
  return { name: name.toUpperCase(), parameters, value: line.slice(at + 1) }
}
