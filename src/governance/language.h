#pragma once
// The languages in which Berth speaks to people. Identifiers (names, reasons, commands) are never
// translated. Everything worded here is made from data at the moment of reading, so one record is
// shown to each reader in their own language.

namespace governance {

enum class Language { English, Chinese };

}  // namespace governance
