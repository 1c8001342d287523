import { useId, useState } from 'preact/hooks'
import { zoneGroups } from './days.ts'
import { GlobeIcon } from './icons.tsx'
import { useView } from './view.ts'

export interface ZonePickerProps {
  zone: string
  /** Zones that the list must contain, such as that of the experience. */
  also: readonly string[]
  onZone(zone: string): void
}

/** The zone that times are shown in. The long list is made when the visitor comes near it. */
export function ZonePicker({ zone, also, onZone }: ZonePickerProps) {
  const { t } = useView()
  const id = useId()
  const [isComplete, setComplete] = useState(false)
  const groups = zoneGroups(isComplete ? Intl.supportedValuesOf('timeZone') : [], [zone, ...also])
  const complete = () => setComplete(true)
  return (
    <div class="zone">
      <label for={id}>
        <GlobeIcon />
        <span class="unseen">{t('zone')}</span>
      </label>
      <div class="select">
        <select
          id={id}
          value={zone}
          onFocus={complete}
          onPointerEnter={complete}
          onPointerDown={complete}
          onChange={(event) => onZone(event.currentTarget.value)}
        >
          {[...groups].map(([region, zones]) => {
            const options = zones.map(({ name, city }) => (
              <option key={name} value={name} selected={name === zone}>
                {city}
              </option>
            ))
            return region === '' ? (
              options
            ) : (
              <optgroup key={region} label={region}>
                {options}
              </optgroup>
            )
          })}
        </select>
      </div>
    </div>
  )
}
