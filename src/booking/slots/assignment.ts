/** The share of one experience that a host of its round robin already has. */
export interface Load {
  /** Bookings in the 30 days around the slot. */
  count: number
  /** The latest booking; ids are sorted by time. Empty: none. */
  latest: string
}

const NONE: Load = { count: 0, latest: '' }

/**
 * The hosts in order of preference: fewest bookings in relation to the weight, then who was assigned longest ago, then the lower id.
 */
export function inOrderOfLoad(
  hosts: readonly string[],
  loads: ReadonlyMap<string, Load>,
  weights: Readonly<Record<string, number>> = {},
): string[] {
  const loaded = hosts.map((id) => {
    const { count, latest } = loads.get(id) ?? NONE
    return { id, share: count / (weights[id] ?? 1), latest }
  })
  return loaded
    .sort((a, b) => a.share - b.share || compare(a.latest, b.latest) || compare(a.id, b.id))
    .map(({ id }) => id)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
