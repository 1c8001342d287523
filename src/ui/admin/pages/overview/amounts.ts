const number = new Intl.NumberFormat()

/** "1 account", "1,204 accounts". */
export function count(amount: number, singular: string, many = `${singular}s`): string {
  return `${number.format(amount)} ${amount === 1 ? singular : many}`
}

export const formatNumber = (value: number): string => number.format(value)

/** A share of whole numbers as a percentage. Only 100 % of them is "100 %". */
export function formatShare(part: number, whole: number): string {
  const percent = (100 * part) / whole
  return `${part === whole ? '100' : Math.min(percent, 99.9).toFixed(1)} %`
}
