import { Text, VisuallyHidden } from '@mantine/core'
import { type KeyboardEvent, type PointerEvent, useId, useRef, useState } from 'react'
import { type Block, blockText, bounded, DAY_MINUTES, DAYS, formatClock, STEP_MINUTES, WEEK } from './blocks.ts'

const HOURS = [0, 3, 6, 9, 12, 15, 18, 21]
/** A click without movement makes a block of this length. */
const CLICK_MINUTES = 60

type Edge = 'all' | 'start' | 'end'
interface Drag {
  /** Index of the block, or -1 for one that is being drawn. */
  index: number
  edge: Edge
  /** Where the pointer went down, in minutes. */
  from: number
  before: Block
  now: Block
}

/**
 * A week as columns. Drag over a free part to add hours, a block to move it, its edge to change it. With the keyboard a block
 * has the focus: arrow keys move it, with Shift they change its end, Delete removes it.
 */
export function WeekGrid({
  blocks,
  onChange,
}: {
  blocks: readonly Block[]
  onChange(blocks: Block[], focus?: Block): void
}) {
  const [drag, setDrag] = useState<Drag | null>(null)
  const columns = useRef(new Map<number, HTMLDivElement>())
  const frame = useRef<HTMLFieldSetElement>(null)
  const help = useId()

  const minuteAt = (day: number, clientY: number) => {
    const box = columns.current.get(day)?.getBoundingClientRect()
    if (box === undefined) return 0
    return snap(((clientY - box.top) / box.height) * DAY_MINUTES)
  }
  const dayAt = (clientX: number, otherwise: number) => {
    for (const [day, column] of columns.current) {
      const { left, right } = column.getBoundingClientRect()
      if (clientX >= left && clientX < right) return day
    }
    return otherwise
  }

  const begin = (event: PointerEvent, index: number, edge: Edge, block: Block) => {
    if (event.button !== 0) return
    event.stopPropagation()
    event.currentTarget.setPointerCapture(event.pointerId)
    setDrag({ index, edge, from: minuteAt(block.day, event.clientY), before: block, now: block })
  }
  const move = (event: PointerEvent) => {
    if (drag === null) return
    const at = minuteAt(drag.before.day, event.clientY)
    setDrag({ ...drag, now: moved(drag, at, dayAt(event.clientX, drag.before.day)) })
  }
  const end = () => {
    if (drag === null) return
    const { index, before, now } = drag
    setDrag(null)
    const isClick = now.start === before.start && now.end === before.end && now.day === before.day
    if (index >= 0 && isClick) return
    const final = index < 0 && isClick ? bounded({ ...now, end: now.start + CLICK_MINUTES }) : now
    onChange(index < 0 ? [...blocks, final] : blocks.map((block, at) => (at === index ? final : block)))
  }

  const onKeyDown = (event: KeyboardEvent, index: number, block: Block) => {
    const changed = byKey(event, block)
    if (changed === undefined) return
    event.preventDefault()
    const next = blocks.flatMap((block, at) => (at === index ? (changed === null ? [] : [changed]) : [block]))
    onChange(next)
    // The block may be in another column now.
    requestAnimationFrame(() => {
      const text = changed === null ? undefined : blockText(changed)
      const all = [...(frame.current?.querySelectorAll<HTMLElement>('[data-block]') ?? [])]
      const target = all.find((element) => element.getAttribute('aria-label') === text) ?? all[0]
      target?.focus()
    })
  }

  const shown = drag === null ? blocks : blocks.map((block, index) => (index === drag.index ? drag.now : block))
  const drawn = drag !== null && drag.index < 0 ? drag.now : undefined
  return (
    <fieldset ref={frame} className="week" aria-label="Open hours of the week">
      <VisuallyHidden id={help}>
        Arrow keys move these hours, Shift with the arrow keys changes the end, Delete removes them.
      </VisuallyHidden>
      <div className="week-hours" aria-hidden="true">
        {HOURS.map((hour) => (
          <span key={hour} style={{ top: `${(hour / 24) * 100}%` }}>
            {formatClock(hour * 60)}
          </span>
        ))}
      </div>
      {WEEK.map((day) => (
        <div key={day} className="week-day">
          <Text size="xs" fw={600} ta="center" c="dimmed" pb={6}>
            {DAYS[day].slice(0, 3)}
          </Text>
          <div
            ref={(element) => {
              if (element !== null) columns.current.set(day, element)
            }}
            className="week-column"
            onPointerDown={(event) => {
              const start = minuteAt(day, event.clientY)
              begin(event, -1, 'end', bounded({ day, start, end: start + STEP_MINUTES, rest: {} }))
            }}
            onPointerMove={move}
            onPointerUp={end}
            onPointerCancel={() => setDrag(null)}
          >
            {shown.map(
              (block, index) =>
                block.end > DAY_MINUTES &&
                (block.day + 1) % 7 === day && (
                  <div
                    key={`night ${blockKey(block)}`}
                    className="week-block"
                    data-rest
                    style={at(0, block.end - DAY_MINUTES)}
                    data-index={index}
                  />
                ),
            )}
            {shown.map(
              (block, index) =>
                block.day === day && (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a block has no other identity, and keeps its index while it is dragged.
                  <div key={index} className="week-block" style={at(block.start, Math.min(block.end, DAY_MINUTES))}>
                    <button
                      type="button"
                      data-block
                      className="week-move"
                      aria-label={blockText(block)}
                      aria-describedby={help}
                      onPointerDown={(event) => begin(event, index, 'all', block)}
                      onKeyDown={(event) => onKeyDown(event, index, block)}
                    >
                      <span data-text={formatClock(block.start)} />
                      <span data-text={formatClock(block.end)} />
                    </button>
                    <i
                      className="week-edge"
                      data-edge="start"
                      onPointerDown={(event) => begin(event, index, 'start', block)}
                    />
                    <i
                      className="week-edge"
                      data-edge="end"
                      onPointerDown={(event) => begin(event, index, 'end', block)}
                    />
                  </div>
                ),
            )}
            {drawn?.day === day && (
              <div className="week-block" style={at(drawn.start, Math.min(drawn.end, DAY_MINUTES))}>
                <span className="week-move">
                  <span data-text={formatClock(drawn.start)} />
                  <span data-text={formatClock(drawn.end)} />
                </span>
              </div>
            )}
          </div>
        </div>
      ))}
    </fieldset>
  )
}

const snap = (minutes: number) => Math.round(minutes / STEP_MINUTES) * STEP_MINUTES
const at = (start: number, end: number) => ({
  top: `${(start / DAY_MINUTES) * 100}%`,
  height: `${((end - start) / DAY_MINUTES) * 100}%`,
})
const blockKey = ({ day, start, end }: Block) => `${day} ${start} ${end}`

function moved({ index, edge, from, before }: Drag, minute: number, day: number): Block {
  const by = minute - from
  if (index < 0)
    return bounded({ ...before, start: Math.min(from, minute), end: Math.min(DAY_MINUTES, Math.max(from, minute)) })
  if (edge === 'start') return bounded({ ...before, start: Math.min(before.start + by, before.end - STEP_MINUTES) })
  if (edge === 'end') return bounded({ ...before, end: before.end + by })
  const start = Math.min(Math.max(0, before.start + by), DAY_MINUTES - STEP_MINUTES)
  return bounded({ ...before, day, start, end: start + before.end - before.start })
}

/** Null: remove it. Undefined: another key. */
function byKey({ key, shiftKey }: KeyboardEvent, block: Block): Block | null | undefined {
  if (key === 'Delete' || key === 'Backspace') return null
  const minutes = { ArrowUp: -STEP_MINUTES, ArrowDown: STEP_MINUTES }[key]
  if (minutes !== undefined) {
    if (shiftKey) return bounded({ ...block, end: block.end + minutes })
    const start = Math.min(Math.max(0, block.start + minutes), DAY_MINUTES - STEP_MINUTES)
    return bounded({ ...block, start, end: start + block.end - block.start })
  }
  const days = { ArrowLeft: -1, ArrowRight: 1 }[key]
  return days === undefined ? undefined : bounded({ ...block, day: block.day + days })
}
