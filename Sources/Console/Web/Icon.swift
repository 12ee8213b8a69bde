/// A picture of a page, drawn in lines on a square of 20.
enum Icon: String, Sendable {
  case overview = "M3 3h5.5v5.5H3zM11.5 3H17v5.5h-5.5zM3 11.5h5.5V17H3zM11.5 11.5H17V17h-5.5z"
  case send = "M17 3 9 11M17 3l-5 14-3-6-6-3z"
  case schedules = "M3 5h14v12H3zM3 9h14M7 3v3.5M13 3v3.5"
  case waiting = "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM6.8 10.2l2.2 2.2 4.2-4.4"
  case history = "M3.5 7.5A7 7 0 1 1 3 10M3 3.5v4h4M10 6v4.2l2.8 1.8"
  case templates = "M5 2.5h7l3 3v12H5zM12 2.5v3h3M7.5 9h5M7.5 12h5M7.5 15h3"
  case abTests =
    "M10 3v14M2.5 15 5.5 5l3 10M3.6 12h3.8M12.5 5v10M12.5 5h2.2a2.4 2.4 0 0 1 0 4.8h-2.2h2.6a2.6 2.6 0 0 1 0 5.2h-2.6"
  case devices = "M6 2.5h8v15H6zM9 14.8h2"
  case segments =
    "M8 4.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM12 4.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11z"
  case screen = "M3 4h14v9.5H3zM6.5 17h7M10 13.5V17"
  case charts = "M3 17h14M5.5 13.5v-4M10 13.5V4M14.5 13.5v-7"
  case settings =
    "M3 6.5h7M14 6.5h3M12 4.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM3 13.5h3M10 13.5h7M8 11.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4z"
  case groups = "M10 3l7 3.8-7 3.8-7-3.8zM3 10.5l7 3.8 7-3.8M3 13.8l7 3.7 7-3.7"
  case people =
    "M7.5 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2 16.5a5.5 5 0 0 1 11 0M13 3.8a3 3 0 0 1 0 5.4M15 12a5 5 0 0 1 3 4.5"
  case audit = "M7 5h10M7 10h10M7 15h10M3 5h.5M3 10h.5M3 15h.5"
  case key = "M7 9.5a3.8 3.8 0 1 0 0 7.5 3.8 3.8 0 0 0 0-7.5zM9.8 10.5 17 3.2M14 6.2l2.2 2.2M12 8.2l1.5 1.5"
  case installation = "M3 3.5h14v5H3zM3 11.5h14v5H3zM6 6h.5M6 14h.5"
  case person = "M10 9.5a3.3 3.3 0 1 0 0-6.5 3.3 3.3 0 0 0 0 6.5zM3.5 17a6.5 5.5 0 0 1 13 0"
  case search = "M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM13 13l4 4"
  case menu = "M3 5.5h14M3 10h14M3 14.5h14"
  case more = "M6 8l4 4 4-4"

  /// The wave of the logo alone: its dark square would vanish on a dark bar.
  static let logo: HTML = """
    <svg class="logo" viewBox="0 4 32 22" aria-hidden="true"><defs><linearGradient id="wave" x1="0" y1="1" x2="1" y2="0">\
    <stop offset="0" stop-color="#0ea5a4"/><stop offset=".55" stop-color="#22c55e"/><stop offset="1" stop-color="#7c3aed"/>\
    </linearGradient></defs><path d="M4 24c4-14 7-16 9-6s4 6 6-2 4-10 9-10c-5 4-6 20-12 20-4 0-5-4-12-2z" fill="url(#wave)"/></svg>
    """

  var html: HTML {
    #"<svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><path d="\#(rawValue)"/></svg>"#
  }
}
