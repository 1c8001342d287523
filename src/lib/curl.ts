/** One request for a shell, one option per line. Quotes what a shell would change. */
export function curlCommand(request: {
  /** Default: GET. */
  method?: string
  url: string
  /** Complete lines such as `-N`, before the address. */
  flags?: string
  /** In double quotes, for variables of the shell: `Authorization: Bearer $KEY`. */
  expanded?: readonly string[]
  headers?: Readonly<Record<string, string>>
  /** JSON. */
  body?: string
}): string {
  const { method = 'GET', url, flags = '', expanded = [], headers = {}, body } = request
  const lines = [`curl ${flags}${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`]
  for (const header of expanded) lines.push(`-H "${header}"`)
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoted(`${name}: ${value}`)}`)
  if (body !== undefined) lines.push(`-H 'Content-Type: application/json'`, `-d ${quoted(body)}`)
  return lines.join(' \\\n  ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
