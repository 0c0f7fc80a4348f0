; What defines a name, as queries of tree-sitter: https://tree-sitter.github.io/tree-sitter/using-parsers/queries
; Each pattern captures the name as `@name` and all of the definition as the kind that it has.

(function_definition name: (identifier) @name) @function
(class_definition name: (identifier) @name) @class
(type_alias_statement left: (type (identifier) @name)) @type
(type_alias_statement left: (type (generic_type . (identifier) @name))) @type
(assignment left: (identifier) @name) @constant
(assignment left: (pattern_list (identifier) @name)) @constant
(assignment left: (tuple_pattern (identifier) @name)) @constant
(assignment left: (attribute object: (identifier) @object attribute: (identifier) @name)) @field
