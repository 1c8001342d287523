import { Stack, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import { AccountsField } from '../../parts/account-picker.tsx'
import { Section } from '../../parts/section.tsx'
import { ZoneField } from '../../parts/zone-field.tsx'
import type { PartProps } from './draft.ts'

export function General({ draft, set }: PartProps) {
  return (
    <Section title="General">
      <Stack>
        <TextInput
          label="Name"
          required
          withAsterisk={false}
          maxLength={200}
          value={draft.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        <Textarea
          label="Description"
          description="Shown to guests below the name"
          autosize
          minRows={2}
          maxRows={8}
          maxLength={5000}
          value={draft.description}
          onChange={(event) => set({ description: event.currentTarget.value })}
        />
        <Switch
          label="Active"
          description="While it is inactive, the booking page does not exist for guests. Bookings stay."
          checked={draft.isActive}
          onChange={(event) => set({ isActive: event.currentTarget.checked })}
        />
        <AccountsField
          label="Hosts"
          description="Their calendars decide which times are free, and get the meetings. Without hosts, only the open hours count."
          value={draft.defaultAccountIds}
          onChange={(defaultAccountIds) => set({ defaultAccountIds })}
        />
        <ZoneField
          label="Time zone"
          description="Of the open hours. Guests see times in their own."
          value={draft.timezone}
          onChange={(timezone) => set({ timezone })}
        />
        <TagsInput
          label="Allowed origins"
          description="Sites that may embed the booking page, such as https://www.example.com. * allows every site."
          placeholder={draft.allowedOrigins.length === 0 ? 'https://www.example.com' : ''}
          acceptValueOnBlur
          maxTags={50}
          value={draft.allowedOrigins}
          onChange={(allowedOrigins) => set({ allowedOrigins })}
        />
      </Stack>
    </Section>
  )
}
