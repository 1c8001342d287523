import { Button, CloseButton, Group, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { type ReactNode, useEffect, useState } from 'react'
import { IconSearch } from './icons.tsx'

export function Filters({
  children,
  onClear,
  isFiltered,
}: {
  children: ReactNode
  onClear(): void
  isFiltered: boolean
}) {
  return (
    <Group gap="sm" role="search" className="filters">
      {children}
      {isFiltered && (
        <Button variant="subtle" color="gray" onClick={onClear}>
          Clear filters
        </Button>
      )}
    </Group>
  )
}

const TYPING_MS = 300

/** Text of the user; the list follows when the user pauses. */
export function TextFilter({
  label,
  value,
  onChange,
  width = 260,
}: {
  label: string
  value: string
  onChange(value: string): void
  width?: number
}) {
  const [text, setText] = useState(value)
  const change = useDebouncedCallback(onChange, TYPING_MS)
  useEffect(() => setText(value), [value])
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

export function ChoiceFilter({
  label,
  value,
  options,
  onChange,
  width = 170,
}: {
  label: string
  value: string
  options: readonly { value: string; label: string }[]
  onChange(value: string): void
  width?: number
}) {
  return (
    <Select
      className="filter"
      __vars={{ '--filter-width': `${width}px` }}
      aria-label={label}
      placeholder={label}
      data={[...options]}
      value={value === '' ? null : value}
      onChange={(chosen) => onChange(chosen ?? '')}
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${label.toLowerCase()}` }}
      comboboxProps={{ withinPortal: true }}
    />
  )
}
