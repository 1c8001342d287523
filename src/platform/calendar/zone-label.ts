/** The name of a zone for people: `America/New York`. The same on every page and in every message, also where `Intl` does not know the zone. */
export function zoneLabel(timeZone: string): string {
  return timeZone.replaceAll('_', ' ')
}
