import { Autocomplete } from '@mantine/core'

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]
const SHOWN = 50

/** The name of a time zone. The service checks it, because it may know zones that the browser does not. */
export function ZoneField({
  label,
  description,
  value,
  onChange,
}: {
  label: string
  description?: string
  value: string
  onChange(value: string): void
}) {
  return (
    <Autocomplete
      label={label}
      description={description}
      placeholder="Europe/Berlin"
      data={ZONES}
      limit={SHOWN}
      maxLength={64}
      value={value}
      onChange={onChange}
    />
  )
}

/** The browser's time zone. */
export const ownZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone
