import { useId, useState } from 'preact/hooks'
import { zoneLabel } from '../../platform/calendar/zone-label.ts'
import { zoneNames } from './days.ts'
import type { Clock } from './formats.ts'
import { GlobeIcon } from './icons.tsx'
import { useView } from './view.ts'

interface ZonePickerProps {
  zone: string
  /** Zones that the list must contain, such as that of the experience. */
  also: readonly string[]
  onZone(zone: string): void
  clock: Clock
  onClock(clock: Clock): void
}

/** How times are shown: the zone, and the clock. The long list of zones is made when the visitor comes near it. */
export function ZonePicker({ zone, also, onZone, clock, onClock }: ZonePickerProps) {
  const { t } = useView()
  const id = useId()
  const [isComplete, setComplete] = useState(false)
  const names = zoneNames(isComplete ? Intl.supportedValuesOf('timeZone') : [], [zone, ...also])
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
          {names.map((name) => (
            <option key={name} value={name} selected={name === zone}>
              {zoneLabel(name)}
            </option>
          ))}
        </select>
      </div>
      <ClockPicker clock={clock} onClock={onClock} />
    </div>
  )
}

const CLOCKS: readonly Clock[] = [12, 24]

function ClockPicker({ clock, onClock }: Pick<ZonePickerProps, 'clock' | 'onClock'>) {
  const { t, formats } = useView()
  const id = useId()
  return (
    <fieldset class="durations clock">
      <legend class="unseen">{t('timeFormat')}</legend>
      {CLOCKS.map((hours) => (
        <label key={hours} class={hours === clock ? 'chosen' : ''}>
          <input type="radio" name={id} checked={hours === clock} onChange={() => onClock(hours)} />
          {formats.hours(hours)}
        </label>
      ))}
    </fieldset>
  )
}
