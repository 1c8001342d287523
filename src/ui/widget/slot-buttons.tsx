import type { Slot } from './days.ts'
import { useView } from './view.ts'

interface SlotButtonsProps {
  slots: readonly Slot[]
  /** The slot that is being reserved. */
  pending: Slot | undefined
  onSelect(slot: Slot): void
}

export function SlotButtons({ slots, pending, onSelect }: SlotButtonsProps) {
  const { formats } = useView()
  const times = formats.times(slots)
  return (
    <ul class="slots">
      {slots.map((slot, index) => {
        const isPending = slot.start === pending?.start
        return (
          <li key={`${slot.start} ${slot.end}`}>
            <button
              type="button"
              class={isPending ? 'slot busy' : 'slot'}
              aria-disabled={pending !== undefined}
              onClick={() => pending === undefined && onSelect(slot)}
            >
              <bdi>{times[index]}</bdi>
            </button>
          </li>
        )
      })}
    </ul>
  )
}
