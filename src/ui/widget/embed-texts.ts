/** The few texts outside the frame, by primary language subtag. */
export const EMBED_TEXTS: Readonly<Record<string, { title: string; close: string }>> = {
  en: { title: 'Book a time', close: 'Close' },
  de: { title: 'Termin buchen', close: 'Schließen' },
  fr: { title: 'Réserver un horaire', close: 'Fermer' },
  es: { title: 'Reservar un horario', close: 'Cerrar' },
  it: { title: 'Prenota un orario', close: 'Chiudi' },
  pt: { title: 'Reservar um horário', close: 'Fechar' },
  nl: { title: 'Tijd boeken', close: 'Sluiten' },
  ja: { title: '日時を予約', close: '閉じる' },
  ar: { title: 'احجز موعدًا', close: 'إغلاق' },
}
