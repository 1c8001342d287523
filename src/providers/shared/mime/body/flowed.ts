interface Line {
  /** How many `>` it begins with. */
  depth: number
  text: string
}

/**
 * Joins the lines of `format=flowed` text into its paragraphs (RFC 3676). Quotes and the line that begins a signature stay. With
 * `delSp`, the space that marks a line that continues is no part of the text, as in Japanese.
 */
export function joinFlowedLines(text: string, { delSp }: { delSp: boolean }): string {
  const joined: string[] = []
  let open: { depth: number; pieces: string[] } | undefined
  const close = () => {
    if (open !== undefined) joined.push(quoted(open.depth, open.pieces.join('')))
    open = undefined
  }
  for (const raw of text.split(/\r\n|\r|\n/)) {
    const line = readLine(raw)
    const isSignature = line.text === '-- '
    if (open !== undefined && (isSignature || open.depth !== line.depth)) close()
    const isSoft = line.text.endsWith(' ') && !isSignature
    const content = isSoft && delSp ? line.text.slice(0, -1) : line.text
    if (open === undefined) open = { depth: line.depth, pieces: [content] }
    else open.pieces.push(content)
    if (!isSoft) close()
  }
  close()
  return joined.join('\n')
}

function readLine(raw: string): Line {
  const depth = /^>*/.exec(raw)?.[0].length ?? 0
  const rest = raw.slice(depth)
  // A space is put before lines that would begin like a quote, or with a space or `From`.
  return { depth, text: rest.startsWith(' ') ? rest.slice(1) : rest }
}

function quoted(depth: number, text: string): string {
  return depth === 0 ? text : `${'>'.repeat(depth)} ${text}`
}
