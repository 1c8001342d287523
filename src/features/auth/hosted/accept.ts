/**
 * Does the client want a page? By its `Accept` header: HTML where it is acceptable and JSON is not named as at least
 * as welcome. No header, or `*` for both, means a page.
 */
export function wantsHtml(accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').flatMap(rangeOf)
  if (ranges.length === 0) return true
  const page = bestFor('text/html', ranges)
  const json = bestFor('application/json', ranges)
  if (page.quality === 0) return false
  return page.quality === json.quality ? page.precision >= json.precision : page.quality > json.quality
}

interface Range {
  type: string
  quality: number
}

function rangeOf(text: string): Range[] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  if (type === '') return []
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  return [{ type, quality: quality === undefined ? 1 : Number(quality) || 0 }]
}

/** The most precise range that covers the type decides its quality (RFC 9110, 12.5.1). */
function bestFor(type: string, ranges: readonly Range[]): { quality: number; precision: number } {
  const patterns = ['*/*', `${type.split('/')[0]}/*`, type]
  for (let precision = patterns.length - 1; precision >= 0; precision -= 1) {
    const range = ranges.find((candidate) => candidate.type === patterns[precision])
    if (range !== undefined) return { quality: range.quality, precision }
  }
  return { quality: 0, precision: -1 }
}
