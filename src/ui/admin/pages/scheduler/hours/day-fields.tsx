import { ActionIcon, Button, Group, Menu, Stack, Text, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { IconCopy, IconPlus, IconTrash } from '../../../parts/icons.tsx'
import { type Block, bounded, DAY_MINUTES, DAYS, formatClock, parseMinutes, WEEK } from './blocks.ts'

const OFFICE = { start: 540, end: 1020 }

/** The same hours as exact times, by day. */
export function DayFields({ blocks, onChange }: { blocks: readonly Block[]; onChange(blocks: Block[]): void }) {
  const of = (day: number) => blocks.filter((block) => block.day === day)
  const add = (day: number) => {
    const last = of(day).at(-1)
    const start = last === undefined ? OFFICE.start : Math.min(last.end + 60, DAY_MINUTES - 60)
    const end = last === undefined ? OFFICE.end : Math.min(start + 120, DAY_MINUTES)
    onChange([...blocks, bounded({ day, start, end, rest: {} })])
  }
  const copy = (day: number, days: readonly number[]) => {
    const others = blocks.filter((block) => block.day === day || !days.includes(block.day))
    const copies = days
      .filter((other) => other !== day)
      .flatMap((other) => of(day).map((block) => ({ ...block, day: other })))
    onChange([...others, ...copies])
  }
  return (
    <Stack gap={6}>
      {WEEK.map((day) => (
        <fieldset key={day} className="day-fields" aria-label={DAYS[day]}>
          <Text size="sm" fw={550} pt={6}>
            {DAYS[day]}
          </Text>
          <Stack gap={6}>
            {of(day).length === 0 && (
              <Text size="sm" c="dimmed" pt={6}>
                Closed
              </Text>
            )}
            {blocks.map(
              (block, index) =>
                block.day === day && (
                  <BlockFields
                    // biome-ignore lint/suspicious/noArrayIndexKey: a block has no other identity.
                    key={index}
                    block={block}
                    onChange={(next) => onChange(blocks.map((existing, at) => (at === index ? next : existing)))}
                    onRemove={() => onChange(blocks.filter((_, at) => at !== index))}
                  />
                ),
            )}
          </Stack>
          <Group gap={4} wrap="nowrap" pt={4}>
            <ActionIcon
              variant="subtle"
              color="gray"
              size="md"
              aria-label={`Add hours on ${DAYS[day]}`}
              onClick={() => add(day)}
            >
              <IconPlus size={16} />
            </ActionIcon>
            <Menu position="bottom-end">
              <Menu.Target>
                <ActionIcon variant="subtle" color="gray" size="md" aria-label={`Copy the hours of ${DAYS[day]}`}>
                  <IconCopy size={16} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item onClick={() => copy(day, [1, 2, 3, 4, 5])}>To Monday to Friday</Menu.Item>
                <Menu.Item onClick={() => copy(day, WEEK)}>To all days</Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </Group>
        </fieldset>
      ))}
      <Button
        variant="subtle"
        color="gray"
        w="fit-content"
        ml="calc(-1 * var(--button-padding-x))"
        disabled={blocks.length === 0}
        onClick={() => onChange([])}
      >
        Close all days
      </Button>
    </Stack>
  )
}

function BlockFields({ block, onChange, onRemove }: { block: Block; onChange(block: Block): void; onRemove(): void }) {
  const { day, start, end, rest } = block
  const zone = typeof rest.timezone === 'string' ? rest.timezone : undefined
  return (
    <Group gap={6} wrap="nowrap">
      <ClockField
        label={`Start on ${DAYS[day]}`}
        value={start}
        onChange={(next) => onChange(bounded({ ...block, start: Math.min(next, DAY_MINUTES - 1) }))}
      />
      <Text size="sm" c="dimmed">
        to
      </Text>
      <ClockField
        label={`End on ${DAYS[day]}`}
        value={end}
        onChange={(next) => onChange({ ...block, end: next <= start ? next + DAY_MINUTES : next })}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        size="md"
        aria-label={`Remove the hours from ${formatClock(start)} on ${DAYS[day]}`}
        onClick={onRemove}
      >
        <IconTrash size={16} />
      </ActionIcon>
      {end > DAY_MINUTES && (
        <Text size="xs" c="dimmed">
          next day
        </Text>
      )}
      {zone !== undefined && (
        <Text size="xs" c="dimmed">
          {zone}
        </Text>
      )}
    </Group>
  )
}

/** A time of day from 00:00 to 24:00. What is typed counts when the field is left. */
export function ClockField({
  label,
  value,
  onChange,
}: {
  label: string
  value: number
  onChange(minutes: number): void
}) {
  const [text, setText] = useState(formatClock(value))
  const [isWrong, setWrong] = useState(false)
  useEffect(() => {
    setText(formatClock(value))
    setWrong(false)
  }, [value])
  const commit = () => {
    const minutes = parseMinutes(text)
    setWrong(minutes === undefined)
    if (minutes !== undefined && formatClock(minutes) !== formatClock(value)) onChange(minutes)
  }
  return (
    <TextInput
      w={68}
      aria-label={label}
      title="HH:MM, up to 24:00"
      maxLength={5}
      error={isWrong}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === 'Enter') {
          event.preventDefault()
          commit()
        }
      }}
    />
  )
}
