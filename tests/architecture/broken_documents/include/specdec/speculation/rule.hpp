// What the check of rule pages reads of the library's header.
inline constexpr std::array rules{
    named_rule{rule::whole, "whole", "its page is right"},
    named_rule{rule::no_page, "no-page", "it has none"},
    named_rule{rule::two_parts, "two-parts", "its page has other parts"},
    named_rule{rule::empty_parts, "empty-parts",
               "its page names a bug that is not seeded, and little else"},
};
