/** What messages to guests say. Hosts get theirs in English, as the rest of the service speaks to them. */
export interface Words {
  confirmed: string
  rescheduled: string
  cancelled: string
  rejected: string
  reminder: string
  when: string
  where: string
  host: string
  reason: string
  reschedule: string
  cancel: string
}

export const ENGLISH: Words = {
  ...{ confirmed: 'Confirmed', rescheduled: 'New time', cancelled: 'Cancelled', rejected: 'Not possible' },
  ...{ reminder: 'Reminder', when: 'When', where: 'Where', host: 'Host', reason: 'Reason' },
  ...{ reschedule: 'Choose another time', cancel: 'Cancel the booking' },
}

/** By the language of a BCP 47 tag. */
const LANGUAGES: Readonly<Record<string, Words>> = {
  en: ENGLISH,
  de: {
    ...{ confirmed: 'Bestätigt', rescheduled: 'Neuer Termin', cancelled: 'Abgesagt', rejected: 'Nicht möglich' },
    ...{ reminder: 'Erinnerung', when: 'Wann', where: 'Wo', host: 'Gastgeber', reason: 'Grund' },
    ...{ reschedule: 'Anderen Termin wählen', cancel: 'Termin absagen' },
  },
  es: {
    ...{ confirmed: 'Confirmada', rescheduled: 'Nueva hora', cancelled: 'Cancelada', rejected: 'No es posible' },
    ...{ reminder: 'Recordatorio', when: 'Cuándo', where: 'Dónde', host: 'Anfitrión', reason: 'Motivo' },
    ...{ reschedule: 'Elegir otra hora', cancel: 'Cancelar la reserva' },
  },
  fr: {
    ...{ confirmed: 'Confirmé', rescheduled: 'Nouvel horaire', cancelled: 'Annulé', rejected: 'Impossible' },
    ...{ reminder: 'Rappel', when: 'Quand', where: 'Où', host: 'Hôte', reason: 'Motif' },
    ...{ reschedule: 'Choisir un autre horaire', cancel: 'Annuler le rendez-vous' },
  },
  it: {
    ...{ confirmed: 'Confermato', rescheduled: 'Nuovo orario', cancelled: 'Annullato', rejected: 'Non possibile' },
    ...{ reminder: 'Promemoria', when: 'Quando', where: 'Dove', host: 'Organizzatore', reason: 'Motivo' },
    ...{ reschedule: 'Scegli un altro orario', cancel: 'Annulla la prenotazione' },
  },
  ja: {
    ...{ confirmed: '予約確定', rescheduled: '日時変更', cancelled: 'キャンセル', rejected: '予約できませんでした' },
    ...{ reminder: 'リマインダー', when: '日時', where: '場所', host: '主催者', reason: '理由' },
    ...{ reschedule: '日時を変更する', cancel: '予約をキャンセルする' },
  },
  nl: {
    ...{ confirmed: 'Bevestigd', rescheduled: 'Nieuwe tijd', cancelled: 'Geannuleerd', rejected: 'Niet mogelijk' },
    ...{ reminder: 'Herinnering', when: 'Wanneer', where: 'Waar', host: 'Gastheer', reason: 'Reden' },
    ...{ reschedule: 'Andere tijd kiezen', cancel: 'Afspraak annuleren' },
  },
  pt: {
    ...{ confirmed: 'Confirmado', rescheduled: 'Novo horário', cancelled: 'Cancelado', rejected: 'Não é possível' },
    ...{ reminder: 'Lembrete', when: 'Quando', where: 'Onde', host: 'Anfitrião', reason: 'Motivo' },
    ...{ reschedule: 'Escolher outro horário', cancel: 'Cancelar o agendamento' },
  },
}

/** The words of a language, and the tag that dates are written in. English when it is not known. */
export function wordsFor(locale: string | undefined): { words: Words; locale: string } {
  const language = locale?.split('-')[0]?.toLowerCase() ?? ''
  const words = Object.hasOwn(LANGUAGES, language) ? LANGUAGES[language] : undefined
  const known = locale !== undefined && words !== undefined && Intl.DateTimeFormat.supportedLocalesOf(locale).length > 0
  return known ? { words, locale } : { words: words ?? ENGLISH, locale: words === undefined ? 'en' : language }
}

/** Such as `Wednesday, 25 November 2026 at 10:00 – 10:30 (Europe/Berlin)`. */
export function whenText(range: { startMs: number; endMs: number }, timeZone: string, locale: string): string {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'short', timeZone })
  return `${format.formatRange(range.startMs, range.endMs)} (${timeZone})`
}
