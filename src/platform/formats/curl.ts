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
  /** Sends a form instead, with the JSON as the field `message`. */
  files?: readonly { part: string; filename: string; contentType: string }[]
}): string {
  const { method = 'GET', url, flags = '', expanded = [], headers = {}, body, files } = request
  const lines = [`curl ${flags}${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`]
  for (const header of expanded) lines.push(`-H "${header}"`)
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoted(`${name}: ${value}`)}`)
  if (files !== undefined) {
    if (body !== undefined) lines.push(`--form-string ${quoted(`message=${body}`)}`)
    for (const { part, filename, contentType } of files)
      lines.push(`-F ${quoted(`${part}=@${filename};type=${contentType}`)}`)
  } else if (body !== undefined) lines.push(`-H 'Content-Type: application/json'`, `-d ${quoted(body)}`)
  return lines.join(' \\\n  ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
