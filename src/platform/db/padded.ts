/**
 * The values for `where(column, 'in', …)`, the last one repeated up to a power of two. Lists of any length then make few statement
 * texts, so that the engines need not prepare a new statement for each length. Not for empty lists.
 */
export function padded<T>(values: readonly T[]): T[] {
  const list = [...values]
  const last = list.at(-1)
  if (last === undefined) return list
  const length = 2 ** Math.ceil(Math.log2(list.length))
  while (list.length < length) list.push(last)
  return list
}
