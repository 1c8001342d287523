import { Alert, NumberInput, SegmentedControl, SimpleGrid, Stack, Switch, TagsInput, Text } from '@mantine/core'
import { useMemo } from 'react'
import type { Availability } from '../../../api/types.ts'
import { IconInfo } from '../../../parts/icons.tsx'
import { Section } from '../../../parts/section.tsx'
import { changed, type PartProps } from '../draft.ts'
import { type Block, toBlocks, toRules } from './blocks.ts'
import { DayFields } from './day-fields.tsx'
import { Overrides } from './overrides.tsx'
import { WeekGrid } from './week-grid.tsx'

/** When hosts can be booked. */
export function Hours({ draft, set }: PartProps) {
  const availability = draft.availability ?? {}
  const change = (changes: { [Name in keyof Availability]?: Availability[Name] | undefined }) =>
    set({ availability: changed(availability, changes) })
  const blocks = useMemo(() => toBlocks(draft.availability?.openHours ?? []), [draft.availability])
  const setBlocks = (next: Block[]) => change({ openHours: toRules(next) })
  const number = (
    name:
      | 'bufferBeforeMinutes'
      | 'bufferAfterMinutes'
      | 'minimumNoticeMinutes'
      | 'maximumDaysAhead'
      | 'maximumPerDay'
      | 'intervalMinutes'
      | 'durationMinutes',
  ) => ({
    value: availability[name] ?? '',
    allowDecimal: false,
    allowNegative: false,
    onChange: (value: string | number) => change({ [name]: value === '' ? undefined : Number(value) }),
  })
  return (
    <Stack gap="lg">
      {draft.availabilityEndpoint !== null && (
        <Alert color="blue" icon={<IconInfo />} title="Your application decides which times are free">
          The availability endpoint is set, so these hours are not used. Remove it under Callbacks to use them.
        </Alert>
      )}
      <Section
        title="Open hours"
        description={`When guests can book, in the time zone ${availability.timezone ?? draft.timezone}. Drag over the week, or enter exact times.`}
      >
        <div className="hours">
          <WeekGrid blocks={blocks} onChange={setBlocks} />
          <DayFields blocks={blocks} onChange={setBlocks} />
        </div>
      </Section>
      <Section title="Dates with other hours" description="Holidays, and days on which the hours differ.">
        <Overrides value={availability.overrides ?? []} onChange={(overrides) => change({ overrides })} />
      </Section>
      <Section title="Limits">
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
          <NumberInput
            label="Length"
            description="Minutes of a meeting"
            placeholder="30"
            min={5}
            max={1440}
            {...number('durationMinutes')}
          />
          <TagsInput
            label="Other lengths"
            description="Minutes a guest can choose, such as 15 and 60"
            placeholder={(availability.durations ?? []).length === 0 ? 'None' : ''}
            acceptValueOnBlur
            maxTags={20}
            value={(availability.durations ?? []).map(String)}
            onChange={(texts) => {
              const durations = [
                ...new Set(
                  texts.map(Number).filter((minutes) => Number.isInteger(minutes) && minutes >= 5 && minutes <= 1440),
                ),
              ]
              change({ durations: durations.length === 0 ? undefined : durations })
            }}
          />
          <NumberInput
            label="Start every"
            description="Minutes between starts"
            placeholder="The length"
            min={5}
            max={1440}
            {...number('intervalMinutes')}
          />
          <NumberInput
            label="Buffer before"
            description="Free minutes before a meeting"
            placeholder="0"
            max={1440}
            {...number('bufferBeforeMinutes')}
          />
          <NumberInput
            label="Buffer after"
            description="Free minutes after a meeting"
            placeholder="0"
            max={1440}
            {...number('bufferAfterMinutes')}
          />
          <NumberInput
            label="Notice"
            description="Minutes from booking to start"
            placeholder="0"
            max={525_600}
            {...number('minimumNoticeMinutes')}
          />
          <NumberInput
            label="Days ahead"
            description="How far ahead guests can book"
            placeholder="No limit"
            min={1}
            max={1095}
            {...number('maximumDaysAhead')}
          />
          <NumberInput
            label="Most per day"
            description="Meetings per host and date"
            placeholder="No limit"
            min={1}
            max={1000}
            {...number('maximumPerDay')}
          />
          <TagsInput
            label="Reminders"
            description="Minutes before the start"
            placeholder={availability.reminders === undefined ? '1440, 60' : ''}
            acceptValueOnBlur
            maxTags={10}
            value={(availability.reminders ?? []).map(String)}
            onChange={(texts) =>
              change({
                reminders: [
                  ...new Set(texts.map(Number).filter((minutes) => Number.isInteger(minutes) && minutes >= 0)),
                ],
              })
            }
          />
        </SimpleGrid>
        <Stack mt="lg" gap="md">
          <div>
            <Text size="sm" fw={550} mb={6}>
              Which hosts take part
            </Text>
            <SegmentedControl
              aria-label="Which hosts take part"
              data={[
                { value: 'collective', label: 'All of them' },
                { value: 'round_robin', label: 'One, in turn' },
              ]}
              value={availability.assignment ?? 'collective'}
              onChange={(value) => change({ assignment: value === 'round_robin' ? 'round_robin' : 'collective' })}
            />
          </div>
          <Switch
            label="Add a video conference"
            description="Meetings get a link to Google Meet or Microsoft Teams."
            checked={availability.conference ?? false}
            onChange={(event) => change({ conference: event.currentTarget.checked })}
          />
        </Stack>
      </Section>
    </Stack>
  )
}
