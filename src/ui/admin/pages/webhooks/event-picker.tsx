import { Checkbox, Paper, ScrollArea, Stack, Text } from '@mantine/core'
import { EVENT_TYPES } from '../../../generated/api-objects.ts'

const GROUPS = Object.entries(Object.groupBy(Object.keys(EVENT_TYPES), (type) => type.slice(0, type.indexOf('.'))))

/** Event types by what they are about. A complete group is subscribed to as `message.*`, so that it includes future types. */
export function EventPicker({ value, onChange }: { value: readonly string[]; onChange(value: string[]): void }) {
  const isChosen = (type: string) => value.includes(type) || value.includes(`${type.slice(0, type.indexOf('.'))}.*`)
  const setGroup = (name: string, isAll: boolean) => {
    const others = value.filter((type) => !type.startsWith(`${name}.`))
    onChange(isAll ? [...others, `${name}.*`] : others)
  }
  const setType = (name: string, types: readonly string[], type: string) => {
    const chosen = types.filter((candidate) => (candidate === type ? !isChosen(candidate) : isChosen(candidate)))
    const others = value.filter((candidate) => !candidate.startsWith(`${name}.`))
    onChange(chosen.length === types.length ? [...others, `${name}.*`] : [...others, ...chosen])
  }
  return (
    <Paper withBorder>
      <ScrollArea.Autosize mah={230} type="auto" viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': 'Events' }}>
        <Stack gap="md" p="md">
          {GROUPS.map(([name, types = []]) => {
            const count = types.filter(isChosen).length
            return (
              <Stack key={name} gap={6}>
                <Checkbox
                  label={<b>{name}.*</b>}
                  checked={count === types.length}
                  indeterminate={count > 0 && count < types.length}
                  onChange={() => setGroup(name, count < types.length)}
                />
                <Stack gap={6} pl={28}>
                  {types.map((type) => (
                    <Checkbox
                      key={type}
                      size="xs"
                      checked={isChosen(type)}
                      onChange={() => setType(name, types, type)}
                      label={type}
                      description={
                        <Text span size="xs">
                          {EVENT_TYPES[type]?.replaceAll('`', '')}
                        </Text>
                      }
                    />
                  ))}
                </Stack>
              </Stack>
            )
          })}
        </Stack>
      </ScrollArea.Autosize>
    </Paper>
  )
}
