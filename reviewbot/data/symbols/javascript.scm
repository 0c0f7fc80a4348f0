; What defines a name, as queries of tree-sitter: https://tree-sitter.github.io/tree-sitter/using-parsers/queries
; Each pattern captures the name as `@name` and all of the definition as the kind that it has.

(field_definition property: (_) @name) @field
