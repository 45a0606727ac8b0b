#pragma once
// The tables of the store and how older files become newer ones. A file carries the list of the
// migrations that made it; opening adds the missing ones in one transaction, and refuses a file
// with more than this binary knows, because it could not keep what it does not understand.
//
//   journal     one row an event: its bytes (base/codec.h) and its link of the chain
//   meta        numbers by key: "epoch"
//   checkpoint  the latest State as bytes, with its digest
//   migration   what was done to this file, in order

#include "base/result.h"
#include "store/sqlite/internal/connection.h"

namespace store::sqlite {

// "BRTH", in the header of the file: this is a store of ours and nothing else.
inline constexpr int kApplicationId = 0x42525448;

// The version that this binary writes.
int newest_schema();

// Changes nothing. Code::FailedPrecondition when the file is newer, or is a database of something
// else; an empty file is fine.
base::Result<base::Done> check_is_known(Connection& connection);
// Brings the file to newest_schema(), after the same check.
base::Result<base::Done> migrate(Connection& connection);
// For a reader, which cannot bring an older file up to date: exactly newest_schema().
base::Result<base::Done> check_is_newest(Connection& connection);

}  // namespace store::sqlite
