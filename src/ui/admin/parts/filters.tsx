import { Button, CloseButton, Collapse, Group, Select, Stack, TextInput } from '@mantine/core'
import { useDebouncedCallback, useDisclosure, useMediaQuery } from '@mantine/hooks'
import { Children, createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { IconFilter, IconSearch } from './icons.tsx'

/** On narrow screens the filters are behind a button, and those that are set are chips beside it. */
const NARROW = '(max-width: 700px)'
/** How the filters below show themselves. */
const Shown = createContext<'field' | 'chip'>('field')

interface FiltersProps {
  /** `TextFilter`, `ChoiceFilter` and `AccountFilter`. */
  children: ReactNode
  onClear(): void
  isFiltered: boolean
}

export function Filters({ children, onClear, isFiltered }: FiltersProps) {
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false })
  const [isOpen, { toggle }] = useDisclosure(false)
  const clear = isFiltered && (
    <Button variant="subtle" color="gray" onClick={onClear}>
      Clear filters
    </Button>
  )
  // A search alone needs no button.
  if (!isNarrow || Children.count(children) === 1) {
    return (
      <Group gap="sm" role="search" className="filters">
        {children}
        {clear}
      </Group>
    )
  }
  return (
    <search className="filters">
      <Group gap="xs">
        <Button variant="default" leftSection={<IconFilter size={16} />} aria-expanded={isOpen} onClick={toggle}>
          Filters
        </Button>
        <Shown value="chip">{children}</Shown>
      </Group>
      <Collapse expanded={isOpen} transitionDuration={0}>
        <Stack gap="xs" pt="sm">
          {children}
          {clear}
        </Stack>
      </Collapse>
    </search>
  )
}

/** Whether a filter is shown as a chip, and not as a field. */
export function useIsChip(): boolean {
  return useContext(Shown) === 'chip'
}

/** A filter that is set. Pressing it clears the filter. */
export function FilterChip({ label, value, onClear }: { label: string; value: string; onClear(): void }) {
  if (value === '') return null
  return (
    <button type="button" className="filter-chip" aria-label={`${label}: ${value}, clear`} onClick={onClear}>
      <span className="truncate">
        {label}: <b>{value}</b>
      </span>
      <span aria-hidden="true">×</span>
    </button>
  )
}

const TYPING_MS = 300

interface TextFilterProps {
  label: string
  value: string
  onChange(value: string): void
  width?: number
}

/** Text of the user; the list follows when the user pauses. */
export function TextFilter({ label, value, onChange, width = 260 }: TextFilterProps) {
  const [text, setText] = useState(value)
  const change = useDebouncedCallback(onChange, TYPING_MS)
  useEffect(() => setText(value), [value])
  if (useIsChip()) return <FilterChip label={label} value={value} onClear={() => onChange('')} />
  return (
    <TextInput
      className="filter"
      __vars={{ '--filter-width': `${width}px` }}
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={16} />}
      rightSection={
        text !== '' && (
          <CloseButton
            size="sm"
            aria-label={`Clear ${label.toLowerCase()}`}
            onClick={() => {
              setText('')
              onChange('')
            }}
          />
        )
      }
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value)
        change(event.currentTarget.value.trim())
      }}
    />
  )
}

interface ChoiceFilterProps {
  label: string
  value: string
  options: readonly { value: string; label: string }[]
  onChange(value: string): void
  width?: number
  /** Options are found by typing a part of them. */
  isSearchable?: boolean
}

export function ChoiceFilter({
  label,
  value,
  options,
  onChange,
  width = 170,
  isSearchable = false,
}: ChoiceFilterProps) {
  if (useIsChip()) {
    const chosen = options.find((option) => option.value === value)?.label ?? value
    return <FilterChip label={label} value={chosen} onClear={() => onChange('')} />
  }
  return (
    <Select
      className="filter"
      __vars={{ '--filter-width': `${width}px` }}
      aria-label={label}
      placeholder={label}
      data={[...options]}
      value={value === '' ? null : value}
      onChange={(chosen) => onChange(chosen ?? '')}
      searchable={isSearchable}
      nothingFoundMessage="Nothing matches"
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${label.toLowerCase()}` }}
      comboboxProps={{ withinPortal: true }}
    />
  )
}
