interface ContentType {
  /** In lower case. */
  type: string
  /** In order, their values as they are written. */
  parameters: { name: string; value: string }[]
}

const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`{|}~-]+"
const TYPE = new RegExp(`^\\s*(${TOKEN}/${TOKEN})\\s*`)
const PARAMETER = new RegExp(`;\\s*(${TOKEN})\\s*=\\s*("(?:[^"\\\\]|\\\\.)*"|${TOKEN})\\s*`, 'y')

/** Reads a type as RFC 2045 5.1 has it, without comments. Undefined for any other text. */
function readContentType(value: string): ContentType | undefined {
  const text = value.replace(/;\s*$/, '')
  const [beginning = '', type] = TYPE.exec(text) ?? []
  if (type === undefined) return undefined
  const parameters: ContentType['parameters'] = []
  const pattern = new RegExp(PARAMETER)
  for (let at = beginning.length; at < text.length; at = pattern.lastIndex) {
    pattern.lastIndex = at
    const [, name, value] = pattern.exec(text) ?? []
    if (name === undefined || value === undefined) return undefined
    parameters.push({ name, value })
  }
  return { type: type.toLowerCase(), parameters }
}

function formatContentType({ type, parameters }: ContentType): string {
  return [type, ...parameters.map(({ name, value }) => `${name}=${value}`)].join('; ')
}

type ParsedFileType = { contentType: string; problem?: undefined } | { contentType?: undefined; problem: string }

const MAX_LENGTH = 500
/** Their parts are in the message itself, or elsewhere. */
const NOT_A_FILE = /^(multipart\/.*|message\/(partial|external-body))$/

/** Parses the content type that a request gives a file, with its parameters. `problem` continues the field's name. */
export function parseFileType(text: string): ParsedFileType {
  if (text.length > MAX_LENGTH) return { problem: `must not be longer than ${MAX_LENGTH} characters` }
  const read = /^[\t\x20-\x7e]*$/.test(text) ? readContentType(text) : undefined
  if (read === undefined) {
    return {
      problem: 'must be a type, with or without parameters, such as text/calendar; method=REQUEST; charset=UTF-8',
    }
  }
  return NOT_A_FILE.test(read.type)
    ? { problem: `must be the type of a file, not ${read.type}` }
    : { contentType: formatContentType(read) }
}

/** The content type of a composed part without the name of its file. */
export function withoutFileName(contentType: string): string | undefined {
  const read = readContentType(contentType)
  return (
    read && formatContentType({ ...read, parameters: read.parameters.filter(({ name }) => !/^name(\*|$)/i.test(name)) })
  )
}
