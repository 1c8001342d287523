interface MediaRange {
  type: string
  quality: number
}

/** True when the `Accept` header prefers HTML to JSON. At equal quality the more specific range wins; a tie means HTML. */
export function wantsHtml(accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').flatMap(parseRange)
  if (ranges.length === 0) return true
  const page = bestMatch('text/html', ranges)
  const json = bestMatch('application/json', ranges)
  if (page.quality === 0) return false
  return page.quality === json.quality ? page.precision >= json.precision : page.quality > json.quality
}

/** True when it also names `text/html`. Browsers do; programs send no header or a wildcard. */
export function namesHtml(accept: string | undefined): boolean {
  return accept?.toLowerCase().includes('text/html') === true && wantsHtml(accept)
}

/** The best of the available content encodings, the first of equal ones. Undefined: send the content as it is. */
export function preferredEncoding(
  acceptEncoding: string | undefined,
  available: readonly string[],
): string | undefined {
  const ranges = (acceptEncoding ?? '').split(',').flatMap(parseRange)
  const findQuality = (name: string) => ranges.find(({ type }) => type === name)?.quality ?? 0
  const best = Math.max(...available.map(findQuality))
  return best > 0 ? available.find((name) => findQuality(name) === best) : undefined
}

function parseRange(text: string): MediaRange[] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  if (type === '') return []
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  return [{ type, quality: quality === undefined ? 1 : Number(quality) || 0 }]
}

/** The most specific range that matches a type decides its quality (RFC 9110, section 12.5.1). */
function bestMatch(type: string, ranges: readonly MediaRange[]): { quality: number; precision: number } {
  const patterns = ['*/*', `${type.split('/')[0]}/*`, type]
  for (let precision = patterns.length - 1; precision >= 0; precision -= 1) {
    const range = ranges.find((candidate) => candidate.type === patterns[precision])
    if (range !== undefined) return { quality: range.quality, precision }
  }
  return { quality: 0, precision: -1 }
}
