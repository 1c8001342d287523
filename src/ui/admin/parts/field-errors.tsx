import type { ApiError } from '../api/client.ts'
import { Problem } from './problem.tsx'
import { sentence } from './sentence.ts'

/** What the API says about a field of the body, to be shown at it. */
export function fieldError(error: ApiError | null, field: string): string | undefined {
  const message = error?.details.find(({ path }) => path === `body.${field}`)?.message
  return message === undefined ? undefined : sentence(message)
}

/** The error of a form, unless it is about fields that show it themselves. */
export function FormProblem({
  error,
  fields,
  title,
}: {
  error: ApiError | null
  fields: readonly string[]
  title: string
}) {
  if (error === null || fields.some((field) => fieldError(error, field) !== undefined)) return null
  return <Problem title={title} error={error} />
}
