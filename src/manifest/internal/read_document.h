#pragma once
// One tree, whatever its notation was, to a document without source.

#include "manifest/document.h"
#include "manifest/internal/field.h"
#include "manifest/internal/tree.h"

namespace manifest {

Document read_document(const Tree& tree, Fault& fault);

}  // namespace manifest
