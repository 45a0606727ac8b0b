#include "model/event.h"

#include <string_view>
#include <type_traits>
#include <variant>

namespace model {

std::string_view kind_of(const Event& event) {
  return std::visit(
      []<class Body>(const Body& body) -> std::string_view {
        if constexpr (std::is_same_v<Body, Decided>)
          return std::visit([]<class D>(const D&) { return D::kKind; }, body.decision.body);
        else
          return Body::kKind;
      },
      event.body);
}

}  // namespace model
