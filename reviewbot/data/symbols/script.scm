; What defines a name, as queries of tree-sitter: https://tree-sitter.github.io/tree-sitter/using-parsers/queries
; Each pattern captures the name as `@name` and all of the definition as the kind that it has.
; Of JavaScript and TypeScript alike.

(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(class_declaration name: (_) @name) @class
(class name: (_) @name) @class
(method_definition name: (_) @name) @method
(lexical_declaration (variable_declarator name: (identifier) @name)) @constant
(variable_declaration (variable_declarator name: (identifier) @name)) @constant
(lexical_declaration
  (variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @name))) @constant
(lexical_declaration
  (variable_declarator name: (object_pattern (pair_pattern value: (identifier) @name)))) @constant
(lexical_declaration (variable_declarator name: (array_pattern (identifier) @name))) @constant
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function) (class)]) @function
(assignment_expression left: (member_expression property: (_) @name)
  right: [(arrow_function) (function_expression) (generator_function) (class)]) @function
(assignment_expression left: (identifier) @name
  right: [(arrow_function) (function_expression) (generator_function) (class)]) @function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @method
(pair key: (string (string_fragment) @name)
  value: [(arrow_function) (function_expression) (generator_function)]) @method
