import { invalid } from '../../../platform/errors/app-error.ts'
import { cleanText } from '../../../platform/formats/text.ts'

const MAX_SEGMENTS = 20

/** The segments of a full name. Throws `validation_failed` for a name that no provider would store as it is. */
export function splitName(path: string, name: string, delimiter: string): string[] {
  const segments = name.split(delimiter)
  if (segments.some((segment) => segment === '')) {
    throw invalid(path, `must not have an empty segment between two "${delimiter}"`)
  }
  if (
    segments.some((segment) => segment.trim() !== segment || cleanText(segment) !== segment || CONTROL.test(segment))
  ) {
    throw invalid(path, 'must not begin or end with spaces, or have control characters')
  }
  if (segments.length > MAX_SEGMENTS) throw invalid(path, `must not have more than ${MAX_SEGMENTS} segments`)
  return segments
}

const CONTROL = /[\u0000-\u001f\u007f]/

export function joined(segments: readonly string[], delimiter: string): string {
  return segments.join(delimiter)
}

/** Throws `validation_failed` when the new name is below the old one. */
export function below(path: string, name: string, oldName: string, delimiter: string): void {
  if (name.startsWith(`${oldName}${delimiter}`)) throw invalid(path, 'must not be below the label itself')
}
