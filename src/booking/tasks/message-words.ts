import { repeatedOffset, wallClock } from '../../platform/calendar/wall-clock.ts'
import { zoneLabel } from '../../platform/calendar/zone-label.ts'

/** The words of messages to guests. Hosts get theirs in English, as the rest of the service speaks to them. */
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
  /** The link with which a guest proves to read the mail of the address. */
  confirm: string
  /** To a guest who has not: somebody else may have entered the address. */
  ignore: string
}

export const ENGLISH: Words = {
  confirmed: 'Confirmed',
  rescheduled: 'New time',
  cancelled: 'Cancelled',
  rejected: 'Not possible',
  reminder: 'Reminder',
  when: 'When',
  where: 'Where',
  host: 'Host',
  reason: 'Reason',
  reschedule: 'Choose another time',
  cancel: 'Cancel the booking',
  confirm: 'Confirm your address',
  ignore:
    'Somebody booked this time with your address. Confirm it so that other people can be invited. If it was not you, ignore this message or cancel the booking.',
}

/** By the language of a BCP 47 tag. */
const LANGUAGES: Readonly<Record<string, Words>> = {
  en: ENGLISH,
  de: {
    confirmed: 'Bestätigt',
    rescheduled: 'Neuer Termin',
    cancelled: 'Abgesagt',
    rejected: 'Nicht möglich',
    reminder: 'Erinnerung',
    when: 'Wann',
    where: 'Wo',
    host: 'Gastgeber',
    reason: 'Grund',
    reschedule: 'Anderen Termin wählen',
    cancel: 'Termin absagen',
    confirm: 'Adresse bestätigen',
    ignore:
      'Jemand hat diesen Termin mit Ihrer Adresse gebucht. Bestätigen Sie sie, damit weitere Personen eingeladen werden können. Waren Sie es nicht, ignorieren Sie diese Nachricht oder sagen Sie den Termin ab.',
  },
  es: {
    confirmed: 'Confirmada',
    rescheduled: 'Nueva hora',
    cancelled: 'Cancelada',
    rejected: 'No es posible',
    reminder: 'Recordatorio',
    when: 'Cuándo',
    where: 'Dónde',
    host: 'Anfitrión',
    reason: 'Motivo',
    reschedule: 'Elegir otra hora',
    cancel: 'Cancelar la reserva',
    confirm: 'Confirmar la dirección',
    ignore:
      'Alguien ha reservado esta hora con su dirección. Confírmela para que se pueda invitar a otras personas. Si no ha sido usted, ignore este mensaje o cancele la reserva.',
  },
  fr: {
    confirmed: 'Confirmé',
    rescheduled: 'Nouvel horaire',
    cancelled: 'Annulé',
    rejected: 'Impossible',
    reminder: 'Rappel',
    when: 'Quand',
    where: 'Où',
    host: 'Hôte',
    reason: 'Motif',
    reschedule: 'Choisir un autre horaire',
    cancel: 'Annuler le rendez-vous',
    confirm: 'Confirmer l’adresse',
    ignore:
      'Quelqu’un a réservé ce créneau avec votre adresse. Confirmez-la pour que d’autres personnes puissent être invitées. Si ce n’était pas vous, ignorez ce message ou annulez le rendez-vous.',
  },
  it: {
    confirmed: 'Confermato',
    rescheduled: 'Nuovo orario',
    cancelled: 'Annullato',
    rejected: 'Non possibile',
    reminder: 'Promemoria',
    when: 'Quando',
    where: 'Dove',
    host: 'Organizzatore',
    reason: 'Motivo',
    reschedule: 'Scegli un altro orario',
    cancel: 'Annulla la prenotazione',
    confirm: 'Conferma l’indirizzo',
    ignore:
      'Qualcuno ha prenotato questo orario con il tuo indirizzo. Confermalo perché si possano invitare altre persone. Se non sei stato tu, ignora questo messaggio o annulla la prenotazione.',
  },
  ja: {
    confirmed: '予約確定',
    rescheduled: '日時変更',
    cancelled: 'キャンセル',
    rejected: '予約できませんでした',
    reminder: 'リマインダー',
    when: '日時',
    where: '場所',
    host: '主催者',
    reason: '理由',
    reschedule: '日時を変更する',
    cancel: '予約をキャンセルする',
    confirm: 'メールアドレスを確認する',
    ignore:
      'あなたのメールアドレスでこの日時が予約されました。アドレスを確認すると、ほかの参加者を招待できます。心当たりがない場合は、このメッセージを無視するか、予約をキャンセルしてください。',
  },
  nl: {
    confirmed: 'Bevestigd',
    rescheduled: 'Nieuwe tijd',
    cancelled: 'Geannuleerd',
    rejected: 'Niet mogelijk',
    reminder: 'Herinnering',
    when: 'Wanneer',
    where: 'Waar',
    host: 'Gastheer',
    reason: 'Reden',
    reschedule: 'Andere tijd kiezen',
    cancel: 'Afspraak annuleren',
    confirm: 'Adres bevestigen',
    ignore:
      'Iemand heeft deze tijd met uw adres geboekt. Bevestig het, zodat andere mensen kunnen worden uitgenodigd. Was u dit niet, negeer dan dit bericht of annuleer de afspraak.',
  },
  pt: {
    confirmed: 'Confirmado',
    rescheduled: 'Novo horário',
    cancelled: 'Cancelado',
    rejected: 'Não é possível',
    reminder: 'Lembrete',
    when: 'Quando',
    where: 'Onde',
    host: 'Anfitrião',
    reason: 'Motivo',
    reschedule: 'Escolher outro horário',
    cancel: 'Cancelar o agendamento',
    confirm: 'Confirmar o endereço',
    ignore:
      'Alguém reservou este horário com o seu endereço. Confirme-o para que outras pessoas possam ser convidadas. Se não foi você, ignore esta mensagem ou cancele o agendamento.',
  },
}

/** The words of a language, and the tag that dates are written in. English when it is not known. */
export function wordsFor(locale: string | undefined): { words: Words; locale: string } {
  const language = locale?.split('-')[0]?.toLowerCase() ?? ''
  const words = Object.hasOwn(LANGUAGES, language) ? LANGUAGES[language] : undefined
  if (words === undefined) return { words: ENGLISH, locale: 'en' }
  const [supported] = locale === undefined ? [] : Intl.DateTimeFormat.supportedLocalesOf(locale)
  // A tag may also contain private texts.
  const region = supported === undefined ? undefined : new Intl.Locale(supported).region
  return { words, locale: region === undefined ? language : `${language}-${region}` }
}

/** Such as `Wednesday, 25 November 2026 at 10:00 – 10:30 (Europe/Berlin)`. An hour that clocks repeat has its offset: `(Europe/Berlin, UTC+02:00)`. */
export function whenText({ startMs, endMs }: TimeSpan, timeZone: string, locale: string): string {
  const { formatRange } = wallClock(locale, timeZone, { dateStyle: 'full', timeStyle: 'short' })
  const offset = repeatedOffset(timeZone, startMs, endMs)
  return `${formatRange(startMs, endMs)} (${[zoneLabel(timeZone), ...(offset === undefined ? [] : [offset])].join(', ')})`
}

interface TimeSpan {
  startMs: number
  endMs: number
}
